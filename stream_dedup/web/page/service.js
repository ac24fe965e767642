// What the service is asked, and what becomes of it.

const ANSWER_MILLISECONDS_MAX = 8000;
const TOKEN = "stream-dedup-token";

export const token = () => sessionStorage.getItem(TOKEN);
export const keepToken = (given) => sessionStorage.setItem(TOKEN, given);

export class Failure extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

export async function ask(path, body) {
  const headers = {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body) headers["Content-Type"] = "application/json";
  let response, said;
  try {
    response = await fetch(path, {
      method: body ? "POST" : "GET",
      headers,
      body: body && JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
    });
    said = await response.json();
  } catch (failure) {
    if (failure.name === "TimeoutError") throw new Failure(0, "The service did not answer in time.");
    throw new Failure(response?.status ?? 0, "The service cannot be reached.");
  }
  // Not ready is an answer too: it says why.
  if (response.ok || path === "readyz") return said;
  throw new Failure(response.status, said.error ?? `The service answered ${response.status}.`);
}

export const remembered = (name, namespace) =>
  ask(`v1/documents/${encodeURIComponent(name)}?namespace=${encodeURIComponent(namespace)}`);

export const NOT_KEPT = "The texts are not kept: with similarity.verify = \"exact\" they are, and are shown here with their differences marked.";

export function failureWords(failure) {
  if (failure.status === 404) return "One of the two is not remembered any more: it was deleted, replaced or is older than the window.";
  if (failure.status === 409) return NOT_KEPT;
  if (failure.status === 413) return "The text is larger than the service takes.";
  return failure.message;
}
