#!/usr/bin/env bash
# Plans the zones of a pull request and shows the plans as its comment; when it is merged, plans them anew and applies
# what the comment shows, or nothing. Everything comes by the environment: action.yml.
set -euo pipefail

if [ "${STATE:-open}" = closed ] && [ "${MERGED:-false}" != true ]; then
  echo 'Closed without a merge: nothing is done.'
  exit 0
fi
if [ -z "${ZONEWARD_TOKEN:-}" ]; then
  if [ "${MERGED:-false}" = true ]; then
    echo '::error::No token: what was merged is not applied. Runs for forks and Dependabot get no secrets: apply the files by hand.'
    exit 1
  fi
  if [ -n "${HEAD_REPOSITORY:-}" ] && [ "$HEAD_REPOSITORY" != "$GITHUB_REPOSITORY" ]; then
    echo '::notice::No token: pull requests of forks get no secrets. Their plan is shown once they are a branch of this repository.'
    exit 0
  fi
  echo '::error::No token: set the secret that the input token names.'
  exit 1
fi
if [ -z "${PULL_REQUEST:-}" ]; then
  echo '::error::This is no pull request: run on pull_request, with the types opened, synchronize, reopened and closed.'
  exit 1
fi
if [ -z "${ZONEWARD:-}" ]; then
  echo '::error::The input command is missing: what runs zoneward.'
  exit 1
fi

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra zoneward <<<"$ZONEWARD"
options=(--comment "pull request $PULL_REQUEST")
[ "${SYNC:-true}" != true ] || options+=(--sync)
stop=$(node -p 'crypto.randomUUID()')

# a command, its words also on the log of the job, which obeys none of them
run() {
  local code=0
  env -u GITHUB_TOKEN "${zoneward[@]}" "$@" >"$work/out" 2>"$work/words" </dev/null || code=$?
  echo "::stop-commands::$stop"
  cat "$work/words"
  echo "::$stop::"
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
  local code=0 id ended said='nothing to do' expect=() more=()
  ended=$(node "$here/comment.mjs" ended "$1") || return 1
  # of a zone that this pull request was applied to, a run that is run again shows only what was changed since
  if [ "$ended" = yes ]; then
    run plan "$1" "$2" "${options[@]}" || code=$?
    if [ "$code" = 2 ]; then
      echo '::error::This pull request was applied already, and the zone was changed since: make a new one.'
      printf -- '- `%s`: applied before, and not again: the zone was changed since (exit code 5)\n' "$1" | comment
      return 5
    fi
    [ "$code" = 0 ] || said="no plan can be made now (exit code $code)"
    printf -- '- `%s`: applied before, %s\n' "$1" "$said" | comment
    return "$code"
  fi
  [ "${RECOMPUTE:-false}" = true ] || expect=(--expect "$(node "$here/comment.mjs" digest "$1")")
  run plan "$1" "$2" "${options[@]}" --json "${expect[@]}" || code=$?
  if [ "$code" = 2 ]; then
    id=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).id' "$work/out")
    [ -z "${FORCE:-}" ] || more+=(--force "$FORCE")
    [ "${PUBLISH:-0}" = 0 ] || more+=(--publish "$PUBLISH")
    code=0
    said=applied
    run apply "$id" "${more[@]}" || code=$?
    [ "$code" != 2 ] || said='applied, and not known to be published'
  fi
  if [ "$code" = 0 ] || [ "$code" = 2 ]; then
    printf -- '- `%s`: %s\n' "$1" "$said" | comment
  else
    if [ "$said" = applied ] && [ "$code" = 6 ]; then said='nobody knows whether it was applied'; else said='not applied'; fi
    { printf -- '- `%s`: %s (exit code %s)\n\n```\n' "$1" "$said" "$code"; tr -d '`' <"$work/words"; printf '```\n'; } | comment
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
