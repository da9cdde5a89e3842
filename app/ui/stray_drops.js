// A file that is dropped where nothing takes it stays where it is: a browser would leave the page to show it.

// Whether something that is dragged over the page is a file.
export const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

function refuse(event) {
  if (event.defaultPrevented || !holdsFiles(event) || event.target.closest?.("input[type=file]")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}
export function guardStrayDrops() {
  for (const name of ["dragover", "drop"]) window.addEventListener(name, refuse);
}
