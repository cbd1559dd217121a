import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { startCloud } from '../../src/lab/cloud/start-cloud.ts';
import { listenAnywhere, pretendAddresses } from './cloud-world.ts';

/** A cloud in a process of its own, so that it can be killed. The only argument is its directory. */
const [directory = ''] = process.argv.slice(2);
const clock = new SystemClock();
const plenty = { perSecond: 100_000, burst: 100_000 };
const cloud = await startCloud({
  listen: listenAnywhere,
  directory,
  clock,
  real: clock,
  log: SILENT_LOG,
  addresses: pretendAddresses(),
  durations: 20,
  rates: { read: plenty, write: plenty },
  quotas: { volumes: 100_000, 'volume-gib': 100_000, snapshots: 100_000 },
  credentials: [{ clientId: 'lab-admin', clientSecret: 'secret', scope: 'admin read write' }],
});
process.stdout.write(`${cloud.url}\n`);
