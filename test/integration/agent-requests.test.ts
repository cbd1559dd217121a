import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installCluster } from '../../bench/agent/installed-cluster.ts';

const HOSTS = 5;

/**
 * The most that both providers may ask for three hosts of a control plane and two workers, with a little room for
 * conflicts. Who needs more than this says here why.
 */
const MOST: Readonly<Record<string, number>> = {
  // Each host: what its config waits for, its data, its Agent.
  'patch openshiftassistedconfigs': HOSTS,
  'patch openshiftassistedconfigs/status': 4 * HOSTS + 2,
  'create infraenvs': HOSTS,
  'create secrets': HOSTS + 1,
  'patch agents': HOSTS,
  // Each Machine of the control plane: its parts, and whether it is up to date.
  'get metal3machinetemplates': 3,
  'create metal3machines': 3,
  'create openshiftassistedconfigs': 3,
  'patch machines': 3,
  'patch machines/status': 6,
  'get machines': 3,
  // The installation. Pull secret and kubeconfigs are read when it comes further, and every ten minutes.
  'get secrets': 25,
  'patch secrets': 2,
  'get customresourcedefinitions': 3,
  'get openshiftassistedcontrolplanes': 5,
  'patch openshiftassistedcontrolplanes': 1,
  'patch openshiftassistedcontrolplanes/status': 30,
  'create clusterdeployments': 1,
  'create clusterimagesets': 1,
  'patch clusterimagesets': 1,
  'create agentclusterinstalls': 1,
  // Each program, when it starts: whether it has the rights that it needs.
  'create selfsubjectrulesreviews': 2,
  // For people.
  'create events': 36,
  'patch events': 4,
};
const MOST_IN_ALL = 160;

describe('the Agent providers installing a cluster', () => {
  it('ask the API server for what they need, and not again', async () => {
    await using cluster = await installCluster(HOSTS);
    const { requests, byRequest } = cluster.counted.counts;
    const tooMany = Object.entries(byRequest).filter(([request, count]) => count > (MOST[request] ?? 0));
    assert.deepEqual(tooMany, []);
    assert.ok(requests <= MOST_IN_ALL, `${requests} requests`);
  });
});
