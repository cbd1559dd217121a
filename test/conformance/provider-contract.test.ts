import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runContract } from '../../src/sdk/conformance/contract.ts';
import type { ProviderSubject } from '../../src/sdk/conformance/contract-subject.ts';
import { instancesConformance } from '../../src/sdk/conformance/instances-contract.ts';
import { loadBalancersConformance } from '../../src/sdk/conformance/load-balancers-contract.ts';
import { routesConformance } from '../../src/sdk/conformance/routes-contract.ts';
import type { TestFramework } from '../../src/sdk/conformance/test-framework.ts';
import { zonesConformance, zonesSuite } from '../../src/sdk/conformance/zones-contract.ts';
import { barely, FakeWorld, guarded } from '../support/fake-provider-world.ts';
import { outcomeOf } from '../support/scratch.ts';

describe('a correct provider', () => {
  for (const connect of [barely, guarded]) {
    const start = () => FakeWorld.start(connect);
    instancesConformance({ make: async () => (await start()).instances });
    zonesConformance({ make: async () => (await start()).common });
    loadBalancersConformance({ make: async () => (await start()).loadBalancers });
    routesConformance({ make: async () => (await start()).routes });
  }
});

describe('a contract', () => {
  it('does not load a test runner into programs that only import it', async () => {
    const suite = new URL('../../src/sdk/conformance/instances-contract.ts', import.meta.url).href;
    const program = `await import('${suite}'); console.log(process.moduleLoadList.some((each) => / (internal\\/)?test/.test(each)))`;
    const { stdout, stderr } = await outcomeOf(process.execPath, ['--input-type=module', '-e', program], {});
    assert.equal(stdout, 'false\n', stderr);
  });

  it('skips what the subject cannot arrange, and says why', async () => {
    const { provider } = await FakeWorld.start(barely);
    const bare: ProviderSubject = { provider, [Symbol.asyncDispose]: async () => undefined };
    const results = await runContract(zonesSuite, { make: () => bare });
    assert.deepEqual(
      results.flatMap((result) => (result.outcome === 'skipped' ? [`${result.id}: ${result.why}`] : [])),
      ['zones/trouble-is-thrown: the subject has no breakCloud()'],
    );
  });

  it('is broken by a provider that does not have the capability at all', async () => {
    const world = await FakeWorld.start((capabilities) => {
      const { zones: _none, ...others } = capabilities;
      return { ...barely(capabilities), capabilities: others };
    });
    const [first] = await runContract(zonesSuite, { make: () => world.common });
    assert.match(first?.outcome === 'broken' ? first.message : '', /the provider fake has no capability zones/);
  });

  it('runs in other frameworks, on one subject that is disposed at the end', async () => {
    const [ran, afterwards]: [string[], (() => Promise<void>)[]] = [[], []];
    const bodies: Parameters<TestFramework['it']>[1][] = [];
    let [made, disposed] = [0, 0];
    zonesConformance({
      make: async () => {
        made++;
        const { common } = await FakeWorld.start(barely);
        return { ...common, breakCloud: undefined as never, [Symbol.asyncDispose]: async () => void disposed++ };
      },
      describe: (_, body) => body(),
      it: (name, body) => {
        ran.push(name);
        bodies.push(body);
      },
      after: (body) => afterwards.push(body),
    });
    const skipped: string[] = [];
    for (const body of bodies) await body({ skip: (why) => skipped.push(why) });
    for (const body of afterwards) await body();
    assert.equal(ran.length, zonesSuite.cases.length);
    assert.deepEqual(skipped, ['the subject has no breakCloud()']);
    assert.deepEqual([made, disposed], [1, 1]);
  });
});
