import { describe } from 'node:test';
import { itDefines, itEqualsOriginals } from '../../../test/support/definition-tests.ts';
import { withoutOriginals } from '../../../test/support/original-definitions.ts';
import { assistedDefinitions } from './definitions.schema.ts';

const INSTALLS = 'agentclusterinstalls.extensions.hive.openshift.io';
/** The original says it as the intersection of two lists, of which this is what is left. */
const INTERSECTED = ['spec.external.cloudControllerManager: enum is ["","External"], not undefined'];

describe('assistedDefinitions', () => {
  itDefines(assistedDefinitions, [
    'infraenvs.agent-install.openshift.io',
    'agents.agent-install.openshift.io',
    INSTALLS,
  ]);
});

const skip = withoutOriginals('assisted-service');

describe('assistedDefinitions beside those of assisted-service', { skip }, () => {
  itEqualsOriginals('assisted-service', assistedDefinitions, { [INSTALLS]: INTERSECTED });
});
