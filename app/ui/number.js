// A number in about three digits, as app/core/format.py writes it.

export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  let out;
  if (size < 1e-3 || size >= 1e9) out = value.toExponential(1);
  else if (size >= 100) out = Math.round(value).toLocaleString("en");
  else {
    const magnitude = Math.floor(Math.log10(size));
    out = value.toFixed(2 - (magnitude >= 0 ? magnitude : magnitude + 1));
  }
  return out.replace(/^-/, "−");
}

// The places of the two neighbours in a rising list that a value lies between; beyond its ends the first or last two.
export function neighbours(values, value) {
  let low = 0;
  let high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle;
  }
  return [low, high];
}
