// Requests to the server. The token comes from the address of the page and goes in a header: a
// reload keeps it, and nothing else on this host is ever sent it.

const token = new URLSearchParams(location.search).get("token") ?? "";

async function answered(path, options = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...options.headers };
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The viewer does not answer: is “recallm view” still running?");
  }
  const body = await response.json();
  if (!response.ok) throw new Error(body.error ?? `The viewer answered ${response.status}.`);
  return body;
}

export function read(name, given = {}, signal = undefined) {
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries(given)) {
    if (value !== null && value !== undefined) asked.set(key, value);
  }
  return answered(`/api/${name}?${asked}`, { signal });
}

export function forget(kind, id) {
  return answered("/api/forget", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ kind, id }),
  });
}
