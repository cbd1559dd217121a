import type { RequestCounts } from './counted-requests.ts';
import { installCluster } from './installed-cluster.ts';

const HOSTS = 5;
/** Machines run before the installation is over: operators, the handover, versions that are looked at once a minute. */
const END_MS = 1_200_000;
const IDLE_MS = 600_000;

/** What both providers ask of the server in ten minutes in which nothing happens, after a cluster was installed. */
export async function idleFigures(): Promise<RequestCounts> {
  await using cluster = await installCluster(HOSTS);
  const { env, counted } = cluster;
  await env.advance(END_MS);
  counted.clear();
  await env.advance(IDLE_MS);
  return counted.counts;
}
