import { againstServers } from '../../support/runtime-servers.ts';
import { controllerSuite } from './controller-suite.ts';
import { managerSuite } from './manager-suite.ts';
import { programSuite } from './program-suite.ts';
import { rbacSuite } from './rbac-suite.ts';
import { webhookSuite } from './webhook-suite.ts';

againstServers({
  controllers: controllerSuite,
  managers: managerSuite,
  webhooks: webhookSuite,
  roles: rbacSuite,
  programs: programSuite,
});
