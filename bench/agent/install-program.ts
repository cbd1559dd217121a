// Installs one cluster on virtual time, in a process of its own. Prints its figures as one line of JSON.
//   install-program.ts HOSTS
import type { InstallFigures } from './install.ts';
import { installCluster } from './installed-cluster.ts';

const hosts = Number(process.argv[2]);
await using cluster = await installCluster(hosts);
const { seconds, processorSeconds, virtualSeconds, counted } = cluster;
const { maxRSS } = process.resourceUsage();
const figures: InstallFigures = {
  seconds,
  processorSeconds,
  virtualSeconds,
  ...counted.counts,
  peakBytes: maxRSS * 1024,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
