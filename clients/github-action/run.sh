#!/usr/bin/env bash
# Plans the zones of a pull request and shows the plans as its comment; when it is merged, plans them anew and applies
# what the comment shows, or nothing. Everything comes by the environment: action.yml.
set -euo pipefail

if [ -z "${ZONEWARD_TOKEN:-}" ]; then
  echo '::notice::No token: pull requests of forks get no secrets. Their plan is shown once they are a branch of this repository.'
  exit 0
fi
if [ -z "${PULL_REQUEST:-}" ]; then
  echo '::error::This is no pull request: run on pull_request, with the types opened, synchronize, reopened and closed.'
  exit 1
fi
if [ "${STATE:-open}" = closed ] && [ "${MERGED:-false}" != true ]; then
  echo 'Closed without a merge: nothing is done.'
  exit 0
fi

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra zoneward <<<"$ZONEWARD"
options=(--comment "pull request $PULL_REQUEST")
[ "${SYNC:-true}" != true ] || options+=(--sync)

# a command, its words also on the log of the job
run() {
  local code=0
  "${zoneward[@]}" "$@" >"$work/out" 2>"$work/words" </dev/null || code=$?
  cat "$work/words"
  return "$code"
}
comment() { cat >>"$work/comment.md"; }

show() {
  local code=0
  run plan "$1" "$2" "${options[@]}" --markdown --digest "$work/digest" || code=$?
  if [ "$code" = 0 ] || [ "$code" = 2 ]; then
    { cat "$work/out"; printf '\n<!-- digest %s %s -->\n\n' "$1" "$(cat "$work/digest")"; } | comment
    return 0
  fi
  { printf '### %s: no plan\n\n```\n' "$1"; tr -d '`' <"$work/words"; printf '```\n\n'; } | comment
  return "$code"
}

apply() {
  local code=0 id said='nothing to do' expect=() more=()
  [ "${RECOMPUTE:-false}" = true ] || expect=(--expect "$(node "$here/comment.mjs" digest "$1")")
  run plan "$1" "$2" "${options[@]}" --json "${expect[@]}" || code=$?
  if [ "$code" = 2 ]; then
    id=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).id' "$work/out")
    [ -z "${FORCE:-}" ] || more+=(--force "$FORCE")
    [ "${PUBLISH:-0}" = 0 ] || more+=(--publish "$PUBLISH")
    code=0
    said=applied
    run apply "$id" "${more[@]}" || code=$?
  fi
  if [ "$code" = 0 ]; then
    printf -- '- `%s`: %s\n' "$1" "$said" | comment
  else
    { printf -- '- `%s`: not applied (exit code %s)\n\n```\n' "$1" "$code"; tr -d '`' <"$work/words"; printf '```\n'; } | comment
  fi
  return "$code"
}

step=show
[ "${MERGED:-false}" != true ] || step=apply
worst=0
while read -r zone file _; do
  [ -n "$zone" ] || continue
  "$step" "$zone" "$file" || worst=$?
done <<<"$ZONES"

[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$work/comment.md" >>"$GITHUB_STEP_SUMMARY"
node "$here/comment.mjs" "$step" <"$work/comment.md"
exit "$worst"
