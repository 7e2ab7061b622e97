// Boxes over a clip of the built-in world, around what the query excludes: for each of the clip's steps they are where it is.
{
  const drawn = new WeakMap(); // video to its boxes, their picture, and the rectangles in it
  const svg = (tag, values) => { // what moves in a picture is no shift of the page's layout
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(values).forEach(([name, value]) => node.setAttribute(name, value));
    return node;
  };
  const draw = (video) => {
    const { boxes, marks } = drawn.get(video) ?? { marks: [] };
    marks.forEach((mark, i) => {
      const step = Math.min(boxes[i].length - 1, Math.floor((video.currentTime / video.duration) * boxes[i].length)) || 0;
      const [left, top, width, height] = boxes[i][step];
      mark.style.display = left === undefined ? "none" : "";
      Object.entries({ x: left, y: top, width, height }).forEach(([name, value]) => mark.setAttribute(name, value ?? 0));
    });
  };
  const follow = (video) => {
    const next = () => { draw(video); video.requestVideoFrameCallback(next); };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(next);
    else video.addEventListener("timeupdate", () => draw(video));
  };
  const areaOf = (boxes, step) => boxes.reduce((sum, each) => sum + (each[step].length ? each[step][2] * each[step][3] : 0), 0);
  // The clip starts with the first step that shows nearly as much of it as any.
  const start = (video, boxes) => {
    const areas = boxes[0].map((_, step) => areaOf(boxes, step));
    const first = areas.findIndex((area) => area > 0.8 * Math.max(...areas));
    if (first > 0) video.currentTime = ((first + 0.1) / areas.length) * video.duration;
  };
  nt2vr.showBoxes = (video, text) => {
    const before = drawn.get(video);
    if (before?.text === text && (!text || before.picture.isConnected)) return;
    before?.picture.remove();
    const boxes = text ? JSON.parse(text) : [];
    const marks = boxes.map(() => svg("rect", { rx: 2 }));
    const picture = svg("svg", { class: "nt-box", viewBox: "0 0 100 100", "aria-hidden": "true" });
    picture.append(...marks);
    if (boxes.length) video.after(picture);
    drawn.set(video, { text, boxes, marks, picture });
    if (!before) follow(video);
    if (!boxes.length) return;
    if (!before && video.readyState < 1) video.addEventListener("loadedmetadata", () => { start(video, boxes); draw(video); }, { once: true });
    else draw(video);
  };
}
