import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import { messageOf, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** A directory with this file, and the identity of the lab in it, may be removed by the warden. */
export const EPHEMERAL_MARK = '.slipway-ephemeral';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;
const END_MS = 2000;

/**
 * Reads the groups that live from its standard input. At its end, when the lab is gone however it died, it ends them all
 * and removes the lab's temporary directory (P14). POSIX: `kill -KILL -- -n` is not, only the form with `-s` is.
 * `$1`: identity of the lab. `$2`: its temporary directory, or nothing. `$3`: instead of /proc, for tests. A group is
 * somebody else's by now when the process with its number began at another time than the one that the warden was told
 * of. Processes that left their group are found by their environment where there is a /proc. The directory is emptied
 * without going through mounts, and only with the mark of this lab in it; until that is written there is nothing else
 * in it.
 */
export const WARDEN_SCRIPT = `
trap '' INT TERM HUP
proc=\${3:-/proc}
groups=
begun() {
  line=
  read -r line 2>/dev/null < "$proc/$1/stat"
  set -- \${line##*) }
  start=\${20:-}
}
while read -r word group; do
  case $word in
    add)
      begun "$group"
      groups="$groups $group:$start" ;;
    del)
      kept=
      for each in $groups; do [ "\${each%%:*}" = "$group" ] || kept="$kept $each"; done
      groups=$kept ;;
    end) exit 0 ;;
  esac
done
escaped() {
  grep -lzxF -e "SLIPWAY_LAB=$1" "$proc"/[0-9]*/environ 2>/dev/null | while read -r file; do
    pid=\${file#"$proc"/}
    echo "\${pid%/environ}"
  done
}
signalled() {
  for each in $groups; do
    begun "\${each%%:*}"
    [ -z "$start" ] || [ "$start" = "\${each#*:}" ] || continue
    kill -s "$1" -- "-\${each%%:*}" 2>/dev/null && alive=yes
  done
}
alive=
signalled TERM
for pid in $(escaped "$1"); do kill -s TERM "$pid" 2>/dev/null && alive=yes; done
[ -z "$alive" ] || sleep 2
signalled KILL
for try in 1 2 3 4 5; do
  left=$(escaped "$1")
  [ -n "$left" ] || break
  for pid in $left; do kill -s KILL "$pid" 2>/dev/null; done
done
if [ -n "$2" ] && [ "$(cat "$2/${EPHEMERAL_MARK}" 2>/dev/null)" = "$1" ]; then
  for try in 1 2 3; do
    find "$2" -xdev ! -type d -exec rm -f -- {} + 2>/dev/null
    find "$2" -xdev -depth -type d -exec rmdir -- {} + 2>/dev/null
    [ -d "$2" ] || break
    sleep 1
  done
elif [ -n "$2" ]; then
  [ -s "$2/${EPHEMERAL_MARK}" ] || rm -f -- "$2/${EPHEMERAL_MARK}"
  rmdir -- "$2" 2>/dev/null
fi
`;

export interface WardenOptions {
  readonly identity: string;
  /** To be removed when the lab dies. */
  readonly temporaryDirectory?: string;
  /** Real time. */
  readonly clock: Clock;
  readonly log: Log;
  /** For tests. */
  readonly shell?: string;
}

/** Ends all children when the lab dies. When it dies itself, another one is started and told everything again (P14). */
export class Warden implements AsyncDisposable {
  readonly #options: WardenOptions;
  /** Bounded by the children of the lab. */
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;
  #retry: Disposable | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isEnding = false;

  private constructor(options: WardenOptions) {
    this.#options = options;
  }

  /** Rejects when there is no shell. */
  static async start(options: WardenOptions): Promise<Warden> {
    const warden = new Warden(options);
    try {
      await once(warden.#spawn(), 'spawn');
    } catch (cause) {
      warden.#isEnding = true;
      warden.#retry?.[Symbol.dispose]();
      throw terminalError(
        'NoShell',
        `the lab needs a shell to end its children when it dies: ${messageOf(cause)}`,
        { cause },
      );
    }
    return warden;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  add(group: number): void {
    this.#groups.add(group);
    this.#tell(`add ${group}\n`);
  }

  delete(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`del ${group}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    this.#retry?.[Symbol.dispose]();
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    // With the pipe to it: who is disposed has no handles.
    const closed = once(child, 'close');
    child.ref();
    using _ = this.#options.clock.timer(END_MS, () => child.kill('SIGKILL'));
    child.stdin?.end('end\n');
    await closed;
  }

  #spawn(): ChildProcess {
    const { identity, temporaryDirectory = '', shell = '/bin/sh' } = this.#options;
    const child = spawn(shell, ['-c', WARDEN_SCRIPT, 'slipway-warden', identity, temporaryDirectory], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    });
    this.#child = child;
    // It waits for the lab, never the lab for it.
    child.unref();
    child.on('exit', () => this.#again());
    child.on('error', () => this.#again());
    // What cannot be told to one that is dying is told to the next.
    child.stdin?.on('error', () => {});
    for (const group of this.#groups) this.#tell(`add ${group}\n`);
    return child;
  }

  #tell(text: string): void {
    if (this.#child?.stdin?.writable === true) this.#child.stdin.write(text);
  }

  #again(): void {
    if (this.#isEnding || this.#retry !== undefined) return;
    const { log, clock } = this.#options;
    log.warn({ retryMs: this.#retryMs }, 'The warden of the children died; starting another one');
    this.#retry = clock.timer(this.#retryMs, () => {
      this.#retry = undefined;
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      this.#spawn();
    });
  }
}
