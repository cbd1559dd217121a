import { describe } from 'node:test';
import { itDefines, itEqualsOriginals } from '../../../test/support/definition-tests.ts';
import { withoutOriginals } from '../../../test/support/original-definitions.ts';
import { hiveDefinitions } from './definitions.schema.ts';

describe('hiveDefinitions', () => {
  itDefines(hiveDefinitions, ['clusterdeployments.hive.openshift.io', 'clusterimagesets.hive.openshift.io']);
});

describe('hiveDefinitions beside those of Hive', { skip: withoutOriginals('hive') }, () => {
  itEqualsOriginals('hive', hiveDefinitions);
});
