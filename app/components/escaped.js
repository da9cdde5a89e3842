// HTML that was escaped in Python, placed as it is; a value is never part of a template.
const place = element.querySelector(".gw-escaped");
const draw = () => window.groupwise.setHtml(place, props.value ?? "");
draw();
watch("value", draw);
