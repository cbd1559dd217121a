import { ValidatingWebhookConfiguration } from '../../src/api/generated/admissionregistration-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';

/**
 * From now on the embedded API server makes no accounts and publishes no authority, as if it were another server: a
 * webhook that nobody answers for is asked about what its own controllers write.
 */
export async function silenceServerAccounts(client: KubeClient): Promise<void> {
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name: 'silence' },
    webhooks: [
      {
        name: 'silence.slipway.dev',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        clientConfig: { service: { namespace: 'default', name: 'nobody' } },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps', 'serviceaccounts'],
          },
        ],
        matchConditions: [{ name: 'server', expression: "request.userInfo.username == 'system:apiserver'" }],
      },
    ],
  });
}
