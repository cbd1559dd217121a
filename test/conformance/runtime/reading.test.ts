import { againstServers } from '../../support/runtime-servers.ts';
import { applySuite } from './apply-suite.ts';
import { cacheSuite } from './cache-suite.ts';
import { clientSuite } from './client-suite.ts';
import { errorSuite } from './error-suite.ts';

againstServers({
  'the client': clientSuite,
  'its failures': errorSuite,
  'what is applied': applySuite,
  'the cache': cacheSuite,
});
