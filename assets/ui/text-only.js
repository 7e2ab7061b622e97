// Gradio renders an HTML component's template with Handlebars, whose {{…}} makes text safe as HTML, and then runs the result as a
// JavaScript template literal, in which ${…} would be run and \ begins an escape, whoever wrote the text. No template here but
// Gradio's own "${value}" has code, so before the literal is run everything in it is made text.
const LITERAL = /^return `([^]*)`;?$/;
const asText = (values) => {
  const [, literal] = LITERAL.exec(values.at(-1)) ?? [];
  if (literal === undefined || literal === "${value}") return values;
  return [...values.slice(0, -1), `return \`${literal.replace(/[\\`$]/g, "\\$&")}\`;`];
};
window.Function = new Proxy(Function, {
  apply: (run, self, values) => Reflect.apply(run, self, asText(values)),
  construct: (run, values) => Reflect.construct(run, asText(values)),
});
