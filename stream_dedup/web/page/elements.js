// The page's elements: found, made, and filled with words.
//
// Ids, sources and texts come from whoever fills the topics. They enter the page as text only:
// nothing here writes markup, and the policy that the page is served with runs no other script.

export const $ = (id) => document.getElementById(id);

export function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export const element = (tag, properties = {}, ...children) =>
  filled(document.createElement(tag), properties, children);

export const shape = (tag, properties = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

// What did not change is left alone: a screen reader, a selection and a cursor stay where they are.
export function say(id, words) {
  const node = $(id);
  if (node.textContent !== words) node.textContent = words;
}

export function facts(id, pairs) {
  const words = JSON.stringify(pairs);
  const list = $(id);
  if (list.dataset.words === words) return;
  list.dataset.words = words;
  const rows = pairs.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const across = list.classList.contains("across");
  list.replaceChildren(...(across ? rows.map((row) => element("div", {}, ...row)) : rows.flat()));
}
