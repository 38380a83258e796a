// The HTTP interface. Errors become one readable line.
async function checked(response) {
  if (response.ok) return response;
  let message = `the server answered ${response.status}`;
  try { message = (await response.json()).error ?? message; } catch { /* no JSON */ }
  if (response.status === 503) message += "; try again in a moment";
  throw new Error(message);
}

async function send(path, body, signal) {
  try {
    return await checked(await fetch(path, body === undefined ? { signal } : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
    }));
  } catch (error) {
    if (error instanceof TypeError) throw new Error("the server does not answer; is loci web still running?");
    throw error;
  }
}

export const get = async (path) => (await send(path)).json();
export const post = async (path, body) => (await send(path, body)).json();

// Lines of JSON as they come.
export async function* lines(path, body, signal) {
  const reader = (await send(path, body, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const whole = rest.split("\n");
    rest = whole.pop();
    for (const line of whole) if (line) yield JSON.parse(line);
  }
}

export function unpacked({ shape, data }) {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return { shape, values: new Float32Array(bytes.buffer) };
}
