// Python reads the value; the inputs mirror it, also after the user has edited them.
const each = (act) => element.querySelectorAll("[data-loss]").forEach((row) => {
  const loss = props.value.losses.find(({ name }) => name === row.dataset.loss);
  if (loss) row.querySelectorAll("input, select").forEach((input) => act(input, loss, loss.fields.find(({ key }) => key === input.dataset.key)));
});
const show = () => each((input, loss, field) => {
  if (input.type === "checkbox") input.checked = (field ?? loss).is_on;
  else input.value = field.value;
});
element.addEventListener("change", (event) => {
  const { losses } = structuredClone(props.value);
  const loss = losses.find(({ name }) => name === event.target.closest("[data-loss]").dataset.loss);
  const field = loss.fields.find(({ key }) => key === event.target.dataset.key);
  if (event.target.type === "checkbox") (field ?? loss).is_on = event.target.checked;
  else field.value = event.target.value;
  props.value = { losses };
});
watch("value", show);
show();
