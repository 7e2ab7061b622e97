// A slide is an SVG of what an area of the page shows: every word, box and clip at its place.
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const box = (each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return `x="${x}" y="${y}" width="${width}" height="${height}"`;
};
const words = (root) => {
  const found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const style = getComputedStyle(node.parentElement);
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { x, y, width, height } = range.getBoundingClientRect();
      found.push(`<text x="${x}" y="${y + height / 2}" dominant-baseline="central" textLength="${width}" font-family="${escaped(style.fontFamily)}" font-size="${style.fontSize}" font-weight="${style.fontWeight}" fill="${style.color}" text-decoration="${style.textDecorationLine}">${escaped(word)}</text>`);
    }
  }
  return found.join("");
};
const ground = (each) => `<rect ${box(each)} rx="8" fill="${getComputedStyle(each).backgroundColor}"/>`;
const clip = (each) => {
  const video = each.querySelector("video");
  const canvas = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  const marks = [...each.querySelectorAll(".nt-rank, .nt-mark")].map((mark) => ground(mark) + words(mark));
  return `<image ${box(video)} href="${canvas.toDataURL("image/jpeg", 0.92)}"/><rect ${box(each)} rx="9" fill="none" stroke-width="4" stroke="${getComputedStyle(each).borderColor}"/>${marks.join("")}`;
};
// Draws a box of the window, on the colour of an element, with texts, of which the first is the title, and clips.
const slide = ({ x, y, width, height }, paper, texts, clips) => {
  const size = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  const drawn = texts.map((text) => [...text.querySelectorAll(".nt-cue")].map(ground).join("") + words(text));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}"><title>${escaped(texts[0].textContent)}</title><rect ${size} fill="${getComputedStyle(paper).backgroundColor}"/>${drawn.join("")}${clips.map(clip).join("")}</svg>`;
};
const save = (content, name, type) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
