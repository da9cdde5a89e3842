// Files that are dropped on a page: some places take them. One that is dropped elsewhere stays where it is: a browser
// would leave the page to show it.

// Whether something that is dragged over the page is a file.
const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

// `take`: is given the files that are dropped here; none where it is a folder.
export function acceptDrops(place, take) {
  for (const kind of ["dragover", "dragleave", "drop"])
    place.addEventListener(kind, (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      const stays = kind === "dragleave" && place.contains(event.relatedTarget);
      place.classList.toggle("over", kind === "dragover" || stays);
      if (kind === "drop") take([...event.dataTransfer.files]);
    });
}

function refuse(event) {
  if (event.defaultPrevented || !holdsFiles(event) || event.target.closest?.("input[type=file]")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}
export function guardStrayDrops() {
  for (const name of ["dragover", "drop"]) window.addEventListener(name, refuse);
}
