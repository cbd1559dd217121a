import process from 'node:process';
import { ConfigMap } from '../../src/api/generated/core-v1.ts';
import { ofProcess } from '../../src/kube/manager/node-process.ts';
import { runProgram } from '../../src/kube/manager/run-program.ts';

/** A program that a lab runs as a child: writes one ConfigMap after the other, and says the time of its clock. */
const LONG_MS = 10_000;
const { CHILD_NAME = 'tick', CHILD_EVERY_MS = String(LONG_MS) } = process.env;

await runProgram({
  name: 'lab-child',
  ...ofProcess(process),
  setup: (manager) =>
    manager.add({
      name: 'writer',
      group: 'leader',
      needs: [],
      run: async (signal) => {
        const { clock, client } = manager;
        for (let tick = 1; !signal.aborted; tick++) {
          const metadata = { namespace: 'default', name: `${CHILD_NAME}-${process.pid}-${tick}` };
          const data = { tick: String(tick), at: clock.now().toISOString(), pid: String(process.pid) };
          await client.create(ConfigMap, { metadata, data });
          process.stdout.write(`tick ${tick} at ${clock.now().toISOString()}\n`);
          await clock.sleep(Number(CHILD_EVERY_MS), signal).catch(() => {});
        }
      },
    }),
});
