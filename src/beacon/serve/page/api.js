// Calls of the server. A failed call throws an Error with the server's one line.

const KEY = "beacon-token";
let askForToken = async () => null;

export function onTokenNeeded(ask) {
  askForToken = ask;
}

async function call(path, options = {}, isSecond = false) {
  const token = sessionStorage.getItem(KEY);
  const headers = { ...(options.body && { "Content-Type": "application/json" }) };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  if (response.status === 401 && !isSecond) {
    sessionStorage.setItem(KEY, (await askForToken()) ?? "");
    return call(path, options, true);
  }
  const told = await response.json().catch(() => ({}));
  throw new Error(told.error ?? `the server answered ${response.status}`);
}

const post = (path, body, signal) => call(path, { method: "POST", body: JSON.stringify(body), signal });
const of = (model) => `api/models/${encodeURIComponent(model)}`;

export const models = async () => (await (await call("api/models")).json()).models;
export const model = async (name) => (await call(of(name))).json();
export const solve = async (name, body, signal) => (await post(`${of(name)}/solve`, body, signal)).json();

export async function around(name, variable) {
  return (await call(`${of(name)}/around?variable=${encodeURIComponent(variable)}`)).json();
}

// Calls hear(part) for each part of a response as it comes.
async function parts(response, end, hear) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let more = await reader.read(); !more.done; more = await reader.read()) {
    const complete = (text + more.value).split(end);
    text = complete.pop();
    complete.forEach(hear);
  }
}

// Calls hear(kind, data) for each event of a search.
export async function stream(name, body, signal, hear) {
  await parts(await post(`${of(name)}/solve-stream`, body, signal), "\n\n", (event) => heard(event, hear));
}

// Calls hear(answer) for each of many queries as it is answered; answer.query is its number.
export async function solveMany(name, body, signal, hear) {
  await parts(await post(`${of(name)}/solve-many`, body, signal), "\n", (line) => hear(JSON.parse(line)));
}

function heard(event, hear) {
  const [kind, data] = event.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
  hear(kind, JSON.parse(data));
}
