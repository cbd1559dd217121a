import { ConfigMap } from 'slipway/api/core-v1';
import { controllerFor, DONE, needs, ownedBy, readyTrue, stamp, userError } from 'slipway/kube';
import { Greeting } from './greeting.ts';

const HELLO = { en: 'Hello', de: 'Hallo', fr: 'Bonjour' };

/** Pure: what the ConfigMap of a greeting is to be. */
function desiredConfigMap(greeting: Greeting) {
  const { metadata, spec } = greeting;
  return {
    metadata: { name: `${metadata.name}-greeting`, namespace: metadata.namespace, ...ownedBy(greeting) },
    data: { text: `${HELLO[spec.language]}, ${spec.who}!` },
  };
}

/** Keeps a ConfigMap with the text of each Greeting. It goes with its owner, so there is nothing to clean up. */
export const helloController = () =>
  controllerFor(Greeting)
    .owns(ConfigMap)
    .needs(needs(ConfigMap, ['create', 'patch']))
    .reconcile({
      async reconcile(greeting, { client, now }) {
        // Only an edit helps: the loop makes a condition and an event of it and waits for the edit.
        if (greeting.spec.who === 'nobody') throw userError('Nobody', 'spec.who must be somebody, not "nobody"');
        await client.apply(ConfigMap, desiredConfigMap(greeting), { force: true });
        const ready = stamp(readyTrue('Greeted', `${greeting.spec.who} was greeted`), greeting, now());
        const { name, namespace } = greeting.metadata;
        await client.applyStatus(
          Greeting,
          { metadata: { name, namespace }, status: { conditions: [ready] } },
          { force: true },
        );
        return DONE;
      },
    });
