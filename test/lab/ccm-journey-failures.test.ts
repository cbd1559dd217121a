// What the phase that brings a provider to a cluster says when something is wrong, with real processes.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Failure } from '../../src/api/journey.ts';
import { cloudPhase } from '../../src/app/cloud/cloud-phase.ts';
import type { Lab } from '../../src/lab/index.ts';
import { endWaits, toldFailure, withCluster } from '../support/journey-phases.ts';
import { scratchDirectory } from '../support/scratch.ts';

interface SeenFailure extends Failure {
  /** What it said that it waits for. */
  readonly waits: readonly string[];
  /** What it wrote down, for when everything is gone. */
  readonly picture: string;
}

/** How the phase fails in a cluster in which something is wrong; time is up as soon as it has said what `isOver` wants. */
async function failureIn(
  provider: string | undefined,
  spoil: (lab: Lab) => void,
  isOver: (waits: readonly string[]) => boolean = () => false,
): Promise<SeenFailure> {
  await using folder = await scratchDirectory();
  await using world = await withCluster(folder.path, { provider });
  const { context, lab, waits } = world;
  endWaits(world, async () => isOver(waits));
  spoil(lab);
  const outcome = await cloudPhase.run(context);
  const told = await toldFailure(cloudPhase, outcome, context);
  const picture = await readFile(join(lab.directory, 'cloud-not-ready.txt'), 'utf8');
  return { ...told, waits, picture };
}

describe('the cloud phase in a cluster', () => {
  it('ccm/P3: asks for no load balancer where the provider has none', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'provider.ts'), WITHOUT_BALANCERS);
    await using world = await withCluster(folder.path, { provider: folder.path });
    const { context } = world;
    const outcome = await cloudPhase.run(context);
    assert.equal(outcome.health, 'done', JSON.stringify(outcome));
    assert.match(outcome.detail, /^5 nodes initialised, no load balancer/);
  });

  it('experience/X31: names what the provider was told when its credentials are wrong, as soon as no try helps', async () => {
    const refuse = ({ cloud }: Lab) =>
      void cloud.fault({ match: { path: '/v1/tokens' }, effect: { status: 401 } });
    const { what, cause, look, waits, picture } = await failureIn(undefined, refuse);
    assert.match(what, /^5 of 5 nodes still carry the taint node\.cloudprovider\.kubernetes\.io\/uninitialized$/);
    assert.match(cause, /^Node (cp|w)-\d: CloudUnauthenticated: POST \/v1\/tokens .* 401 Unauthenticated/);
    assert.match(
      look.join('\n'),
      /without --once:\nkubectl .* logs -n openshift-acme-cloud-cloud-controller-manager acme-c/,
    );
    assert.match(look.join('\n'), /cloud-not-ready\.txt/);
    assert.match(waits.join('\n'), /initialises cp-0, cp-1, cp-2, w-0, w-1$/m);
    assert.match(waits.at(-1) ?? '', /w-1 \(last warning: Node (cp|w)-\d: CloudUnauthenticated: /);
    assert.match(picture, /^no further try helps: Node (cp|w)-\d: CloudUnauthenticated: /);
    assert.match(
      picture,
      /last lines of cloud-controller-manager in pod acme-cloud-cloud-controller-manager-\S+:\n {2}\S/,
    );
  });

  it('experience/X31: says while it waits why the Service gets no load balancer', async () => {
    const refuse = ({ cloud }: Lab) =>
      void cloud.fault({ match: { path: '/v1/load-balancers' }, effect: { status: 403 } });
    const isTold = (waits: readonly string[]) =>
      waits.some((wait) =>
        wait.startsWith(
          'Service hello gets a load balancer (last warning: Service hello: SyncLoadBalancerFailed: ',
        ),
      );
    const { what, cause, waits } = await failureIn(undefined, refuse, isTold);
    assert.ok(isTold(waits), waits.join('\n'));
    assert.equal(what, 'the load balancer of Service hello does not answer');
    assert.match(cause, /^Service hello: SyncLoadBalancerFailed: .* 403 /);
  });

  it('experience/X31: names the last words of a cloud controller manager that cannot stay up, without a long wait', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'provider.ts'), UNUSABLE);
    const { cause, look, picture } = await failureIn(folder.path, () => {});
    // One end alone may be chance.
    assert.match(cause, /^pod tiny-cloud-controller-manager-\S+ ended \d+ times: .*TINY_KEY is missing/);
    assert.match(
      look.join('\n'),
      /kubectl .* logs --previous -n openshift-tiny-cloud-controller-manager tiny-cloud-c/,
    );
    assert.match(
      picture,
      /^the cloud controller manager ends over and over\nlast lines of .*in pod tiny-.*TINY_KEY is missing/s,
    );
  });
});

/** As for a cloud that has no load balancers. */
const WITHOUT_BALANCERS = `
import { defineProvider } from 'slipway/sdk';
import acme from ${JSON.stringify(join(import.meta.dirname, '../../examples/acme-cloud/provider.ts'))};
const { loadBalancers, ...others } = acme.capabilities;
export default defineProvider({ ...acme, capabilities: others, ccm: { external: true } });
`;

/** A provider that loads, and cannot be connected. */
const UNUSABLE = `
import { defineProvider, ProviderError } from 'slipway/sdk';
export default defineProvider({
  name: 'tiny',
  displayName: 'Tiny',
  architectures: ['amd64'],
  providerID: { scheme: 'tiny', format: '{id}', pattern: /^tiny:\\/\\/.+$/ },
  connect: () => {
    throw new ProviderError('invalid', 'TINY_KEY is missing');
  },
  capabilities: { instances: { declare: () => ({}), describe: async () => ({ state: 'unmanaged' }) } },
});
`;
