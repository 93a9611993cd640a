# What stands before a page's own commands. A server stays for the commands below it, until the page starts another one. Other
# commands are run in the test's process, but for those that read what is typed.
# Given: PORT, COMMAND and SOCKET (command.ts, and where it is answered).
exec 2>&1
set -eo pipefail
npx() { "$@"; }
npm() { [ "$1" = install ] || command npm "$@"; } # packages are here already
curl() { command curl -sS --fail-with-body "$@"; } # at a terminal it shows no progress either
stop() { [ -z "$server" ] || { kill "$server"; wait "$server" || true; }; }
trap stop EXIT
whetstone() {
  case "$*" in
    "serve "* | "dashboard"*) ;;
    "init"* | "play"*) command whetstone "$@"; return ;;
    "versions split"* | "versions promote"* | "versions rollback"* | "forget"*) node "$COMMAND" "$SOCKET" "$@" --yes; return ;;
    *) node "$COMMAND" "$SOCKET" "$@"; return ;;
  esac
  stop
  case "$*" in *" --port "*) ;; *) set -- "$@" --port "$PORT" ;; esac
  local log="$TMPDIR/server.log"
  : >"$log"
  "$(type -P whetstone)" "$@" >"$log" 2>&1 &
  server=$!
  until grep -q http:// "$log"; do
    kill -0 "$server" || { cat "$log"; return 1; }
    sleep 0.05
  done
  cat "$log"
}
