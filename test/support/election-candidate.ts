// A program with a leader that does nothing but say so: competes for a Lease of the server of KUBECONFIG, and while it
// leads appends "<unix microseconds> <identity>" to a file that all candidates share, as the oracle's `elect` does.
//   election-candidate.ts --claims FILE --identity TEXT [--ignore-fence] -- FLAGS OF THE RUNTIME
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import type { ProcessLike } from '../../src/kube/manager/process-guards.ts';
import { runProgram } from '../../src/kube/manager/run-program.ts';

const CLAIM_EVERY_MS = 5;
const SLOW_EXIT_MS = 100;

const { values, positionals } = parseArgs({
  options: {
    claims: { type: 'string' },
    identity: { type: 'string' },
    // A planted bug: leads until the process ends, whatever the fence and the manager say, and is slow to end.
    'ignore-fence': { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { claims, identity, 'ignore-fence': ignoresFence } = values;
if (claims === undefined || identity === undefined) throw new Error('--claims and --identity are needed');
const file = openSync(claims, 'a');

async function claim(manager: Manager, signal: AbortSignal): Promise<void> {
  while (ignoresFence || !signal.aborted) {
    // Before the question, and no turn of the event loop between: a stop of the process in here can only keep back the
    // line, never make it say a moment at which the answer would have been another.
    const atMs = Date.now();
    if (ignoresFence || manager.fence.isValid) writeSync(file, `${atMs * 1000} ${identity}\n`);
    await sleep(CLAIM_EVERY_MS);
  }
}

const slow: ProcessLike = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  exit: (code) => void setTimeout(() => process.exit(code), SLOW_EXIT_MS),
};

await runProgram({
  name: 'election-candidate',
  argv: positionals,
  env: process.env,
  homeDir: '/nonexistent',
  host: ignoresFence ? slow : process,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  setup: (manager) => manager.add({ name: 'claims', group: 'leader', run: (signal) => claim(manager, signal) }),
});
