// What the server tells each page: where the libraries' scripts are, and whether one had to log in.

export const { libraries, guarded } = JSON.parse(document.getElementById("groupwise-settings")?.textContent ?? "{}");
