/** Where a key is shown once; from then on a cookie stands for it, which no script reads. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, messageOf } from "../api.ts";
import { backFrom } from "../parts/back.ts";

export function Login() {
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    document.title = "Log in · Whetstone";
    field.current?.focus();
  }, []);
  const send = async (): Promise<void> => {
    setBusy(true);
    setTrouble("");
    try {
      await ask("/api/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: field.current?.value }),
      });
      location.replace(backFrom(location.search, location.origin));
    } catch (e) {
      setBusy(false);
      setTrouble(messageOf(e));
      field.current?.select();
    }
  };
  return (
    <form
      class="login"
      onSubmit={(e) => {
        e.preventDefault();
        void send();
      }}
    >
      <h1>Log in</h1>
      <p>
        This server is reached from other machines, and shows its pages to who has a key of scope{" "}
        <code>read</code>. Feedback takes <code>feedback</code> too, and changing versions <code>admin</code>.
      </p>
      <label>
        Key
        <input
          ref={field}
          type="password"
          name="key"
          required
          autocomplete="current-password"
          spellcheck={false}
          aria-describedby={trouble ? "trouble" : undefined}
          aria-invalid={trouble !== ""}
        />
      </label>
      <p id="trouble" class="bad" role="alert">
        {trouble}
      </p>
      <button type="submit" disabled={busy}>
        Log in
      </button>
      <p class="faint">
        Keys are made on the server:{" "}
        <code>whetstone keys create me --scope read --scope feedback --scope admin</code>
      </p>
      {!isSecureContext && (
        <p class="faint">
          What this page sends is not encrypted on its way. Put a proxy that speaks HTTPS before the server.
        </p>
      )}
    </form>
  );
}
