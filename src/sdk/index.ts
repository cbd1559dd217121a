/**
 * What authors of provider and hardware definitions import (`slipway/sdk`). Definitions and capability interfaces join it
 * with the components that use them; how to say what a failure means is the same for all of them.
 */
export type { Clock } from '../base/clock.ts';
export { type Disposition, retryError, SlipwayError, terminalError, userError } from '../base/errors.ts';
export type { Log, LogFields } from '../base/log.ts';
