// The view as the fragment of an address, which browsers do not send to any server: which
// agent, which profile, a scratch template; values of the context only when the user says so.

/** What a fragment says: {agent, profile, template, context}, each absent or a text. */
export async function readLink(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = {};
  for (const name of ["agent", "profile"]) if (given.get(name)) state[name] = given.get(name);
  for (const name of ["template", "context"]) {
    if (given.has(name)) state[name] = await unpacked(given.get(name));
  }
  return state;
}

/** The fragment for a state. */
export async function makeLink({ agent, profile, template, context }) {
  const made = new URLSearchParams();
  if (agent) made.set("agent", agent);
  if (profile) made.set("profile", profile);
  if (template !== undefined) made.set("template", await packed(template));
  if (context !== undefined) made.set("context", await packed(context));
  return `#${made}`;
}

const MOST = 4 << 20; // A small link could unpack to a text that stops the page.

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(code) {
  const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const reader = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MOST) throw new RangeError("the link holds too long a text");
  }
}
