// Names and numbers as a person reads them.

// low_blood_pressure reads better with spaces; x_0_1 does not.
export const readable = (name) => name.replace(/(?<=[\p{L}])_(?=[\p{L}])/gu, " ");

export function fixed(number, digits = 2) {
  return number.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

export const seconds = (time) => (time < 0.1 ? `${fixed(1000 * time, time < 0.01 ? 1 : 0)} ms` : `${fixed(time)} s`);

export function percent(probability) {
  if (probability === 0) return "0 %";
  const share = 100 * probability;
  return share >= 0.01 ? `${Number(share.toPrecision(3))} %` : `${share.toExponential(1)} %`;
}

// How many times less probable something is that loses this many nats.
export function times(nats) {
  if (nats < 0.05) return "a tie";
  const factor = Math.exp(nats);
  if (factor < 10) return `${fixed(factor, 1)}×`;
  return factor < 1e6 ? `${fixed(factor, 0)}×` : `10${power(Math.round(nats / Math.LN10))}×`;
}

const power = (exponent) => [...String(exponent)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? digit).join("");

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
