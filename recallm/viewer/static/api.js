// Requests to the server. The token comes from the address of the page and goes in a header: a
// reload keeps it, and nothing else on this host is ever sent it.

const token = new URLSearchParams(location.search).get("token") ?? "";

export async function read(name, given = {}, signal = undefined) {
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries(given)) {
    if (value !== null && value !== undefined) asked.set(key, value);
  }
  const headers = { Authorization: `Bearer ${token}` };
  let response;
  try {
    response = await fetch(`/api/${name}?${asked}`, { headers, signal, credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The viewer does not answer: is “recallm view” still running?");
  }
  const body = await response.json();
  if (!response.ok) throw new Error(body.error ?? `The viewer answered ${response.status}.`);
  return body;
}
