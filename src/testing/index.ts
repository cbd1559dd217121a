/** The test kit, for users of the package (`slipway/testing`). */
export { type ApiServer, type ApiServerOptions } from '../apiserver/options.ts';
export { startApiServer } from '../apiserver/start.ts';
export { SystemClock, VirtualClock } from '../base/clock.ts';
export { SILENT_LOG } from '../base/log.ts';
export {
  type ClusterSetup,
  type CrashOptions,
  type IdleOptions,
  type ImageCatalogue,
  type Lab,
  type LabClock,
  type LabCluster,
  type LabNode,
  type LabOptions,
  startLab,
} from '../lab/index.ts';
export { CRASH_FAULTS, type CrashFault } from './crash-faults.ts';
export { type CrashPointOptions, type CrashReport, enumerateCrashPoints } from './crash-points.ts';
export {
  type CrashScenario,
  type Effect,
  type ScenarioInstance,
  type ScenarioLife,
  type ScenarioWorld,
} from './crash-scenario.ts';
export { type ExactRbacOptions, expectExactRbac } from './exact-rbac.ts';
export { type Fault, type FaultRule, Faults } from './faults.ts';
export { type FuzzOptions, type FuzzReport, fuzzReconciler } from './fuzz.ts';
export { applyYaml, dumpYaml, expectGolden } from './golden.ts';
export {
  type ClientCall,
  type ClientHooks,
  type ClientVerb,
  interceptedClient,
  type VerbHooks,
} from './intercepted-client.ts';
export { expectNoWrites, type RecordedRequest, RequestRecorder } from './recorder.ts';
export { type ManagerSetup, TestEnv, type TestEnvOptions } from './test-env.ts';
export { type World, worldDifferences, worldOf } from './world.ts';
