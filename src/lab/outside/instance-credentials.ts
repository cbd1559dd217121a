import { instanceClient } from '../cloud/access/credentials.ts';
import { INSTANCES } from '../cloud/instances/instance-fields.ts';
import type { InstanceCredentials } from '../cloud/metadata/metadata-caller.ts';
import type { LabCloud } from '../cloud/start-cloud.ts';

/** Programs on an instance may look around; who wants to change something is given a credential of its own. */
const SCOPE = 'read';

/** Gives each instance a credential when it first asks; the cloud takes it back when the instance is terminated. */
export const instanceCredentials =
  (cloud: Pick<LabCloud, 'state' | 'credentials' | 'createCredential' | 'issueToken'>) =>
  async (instanceId: string): Promise<InstanceCredentials | undefined> => {
    const state = cloud.state.get(INSTANCES, instanceId)?.state;
    if (state === undefined || state === 'terminated') return undefined;
    const clientId = instanceClient(instanceId);
    // At once: programs of one instance may ask at the same time.
    if (!cloud.credentials().some((known) => known.clientId === clientId))
      await cloud.createCredential({ clientId, scope: SCOPE });
    return { clientId, ...cloud.issueToken(clientId) };
  };
