#!/bin/sh
# A probe: it notes in the ledger what happens to it, and acts as the file NAME.act beside it says.
# Whatever goes wrong with the ledger ends it with 125, never with a number that a runner reads as an answer:
# a shell that gives up (no process left, a special builtin that failed) would end with 2, which is a veto.
# (Lines that are only a comment are left out of the program that is started.)
trap 'broken "the shell gave up"' EXIT
export LC_ALL=C
PATH=/usr/bin:/bin${PATH:+:$PATH}
IFS='
 '
D=${0%/*} P=${0##*/} n=0
# started by another name, which is a link to its own
[ -e "$D/$P.act" ] || { P=$(readlink "$0") D=${P%/*} P=${P##*/}; }
# a file that is there already is never written: so the number of a run is claimed
set -C

# What an act may change. All else in it is the function `answer`, which prints and sets `code`.
reads=all record='' child='' holds=stdout session=same awaits='' awaits_end='' ticks='' naps='' stubborn='' dies='' code=0

# broken WHAT: the harness hears of it through the FIFO, which needs no disk
broken() {
  trap - EXIT
  case $P in h*) [ ! -p "$D/$P.live" ] || echo "$P.$n: $1" 1<>"$D/$P.live" ;; esac
  exit 125
}

# note KIND [DETAIL]: one line, written at once
note() {
  echo "$1 $P $n${2:+ $2}" >>"$D/journal" || broken "cannot note $1"
}

# noted PROBE KIND [KIND]: whether its first run has such a line
noted() {
  while read -r kind probe run rest; do
    case "$probe $run $kind" in "$1 1 $2" | "$1 1 ${3:-$2}") return 0 ;; esac
  done <"$D/journal"
  return 1
}

# await PROBE KIND [KIND]: at most about 3 s
await() {
  left=140
  until noted "$@"; do
    [ $left -gt 0 ] || { note lonely; return; }
    left=$((left - 1))
    sleep 0.02
  done
}

# pad CHARACTER COUNT
pad() {
  head -c "$2" /dev/zero | tr '\0' "$1"
}

# remember ARGUMENTS: what the case wants to know of the start
remember() {
  # the environment of the shell as it was given; opened here, because `cat` has another
  case $record in *env*)
    { cat <&3 >"$D/$P.$n.env" || broken 'cannot keep env'; } 3</proc/self/environ || broken 'no /proc' ;;
  esac
  case $record in *cwd*) pwd -P >"$D/$P.$n.cwd" || broken 'cannot keep cwd' ;; esac
  case $record in *args*)
    if [ $# -gt 0 ]; then printf '%s\0' "$@"; fi >"$D/$P.$n.args" || broken 'cannot keep args' ;;
  esac
}

# stdin, as much of it as the act says
swallow() {
  case $reads$stubborn in
  half) head -c 64 ;;
  all) cat ;;
  half?*) (trap '' TERM && exec head -c 64) ;;
  *) (trap '' TERM && exec cat) ;;
  esac >"$D/$P.$n.in" || {
    # a runner may have given no stdin at all: that is its doing and no trouble of ours
    if { true 3<&0; } 2>/dev/null; then broken 'cannot keep stdin'; else return 0; fi
  }
  case $reads in half) exec 0<&- ;; esac
  note read
}

# a process that outlives this one; it holds the FIFO open as well
leave_child() {
  set -- sleep "$child"
  case $session in new) set -- setsid "$@" && { command -v setsid >/dev/null || broken 'no setsid'; } ;; esac
  case $holds in stdout) "$@" & ;; *) "$@" >/dev/null 2>&1 & ;; esac
}

run() {
  n=1
  while [ -e "$D/$P.$n.s" ] || ! { true >"$D/$P.$n.s"; } 2>/dev/null; do
    [ -e "$D/$P.$n.s" ] || broken 'cannot claim a run'
    n=$((n + 1))
  done
  command . "$D/$P.act" || broken 'cannot read the act'
  # PIPE: the shell reports its killed sleeps on a stderr that may be closed by then
  [ -z "$stubborn" ] || { trap 'note term' TERM; trap '' PIPE; }
  note start $$
  [ -z "$record" ] || remember "$@"
  [ $reads = none ] || swallow
  [ -z "$child" ] || leave_child
  [ -z "$awaits" ] || await "$awaits" start
  # its runner gets a moment to see that end
  [ -z "$awaits_end" ] || { await "$awaits_end" end dies; sleep 0.03; }
  [ -z "$naps" ] || sleep "$naps"
  # short sleeps: a TERM for the whole group ends one of them, and only that one
  while [ "${ticks:-0}" -gt 0 ]; do sleep 0.05; ticks=$((ticks - 1)); done
  answer
  true >"$D/$P.$n.e" || broken 'cannot mark the end'
  if [ "$dies" ]; then
    note dies "$dies"
    trap - TERM PIPE EXIT
    ulimit -c 0
    kill -s "$dies" $$
    # still here: the runner had that signal ignored, which a shell cannot undo
    kill -s KILL $$
  fi
  note end $code
  trap - EXIT
  exit $code
}

# handlers hold their FIFO open as long as anything of them lives
case $P in
h*) { run "$@"; } 9<>"$D/$P.live" || broken 'cannot open the FIFO' ;;
*) run "$@" ;;
esac
