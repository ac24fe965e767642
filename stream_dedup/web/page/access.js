// The form that asks for the token.

import { $, say } from "./elements.js";
import { keepToken, token } from "./service.js";
import { banner, stand } from "./standing.js";

let shut = false;

export const isShut = () => shut;

export function askForToken() {
  shut = true;
  say("access-answer", token() ? "The service refused this token." : "");
  $("access").hidden = false;
  $("main").hidden = true;
  stand("waiting", "◆", "token needed");
  banner([]);
  $("token").focus();
}

export function onEntered(goOn) {
  $("access").addEventListener("submit", (event) => {
    event.preventDefault();
    keepToken($("token").value);
    $("token").value = "";
    shut = false;
    $("access").hidden = true;
    $("main").hidden = false;
    $("main").focus();
    goOn();
  });
}
