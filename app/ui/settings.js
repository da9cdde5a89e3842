// What the server tells each page: where the libraries' scripts are, whether one had to log in, and what the page would
// ask for first (app/pages/run/first_look.py).

export const {
  libraries,
  guarded,
  first = {},
} = JSON.parse(document.getElementById("groupwise-settings")?.textContent ?? "{}");
