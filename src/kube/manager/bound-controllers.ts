import { userError } from '../../base/errors.ts';
import type { Controller } from '../controller/controller.ts';
import type { BoundController, ControllerEnvironment } from '../controller/controller-run.ts';
import type { Runnable } from './runnable.ts';

/** The controllers of one manager. */
export class BoundControllers {
  readonly #environment: ControllerEnvironment;
  readonly #bound = new Map<string, BoundController>();

  constructor(environment: ControllerEnvironment) {
    this.#environment = environment;
  }

  /** No controller has a key in work, nor one that is ready where somebody may work on it. */
  isIdle(isLeader: boolean): boolean {
    return [...this.#bound.values()].every(
      ({ activity: { ready, processing } }) => processing === 0 && (ready === 0 || !isLeader),
    );
  }

  /** The parts of a controller for this manager. Throws when its name is taken (R1). */
  bind(controller: Controller): readonly Runnable[] {
    if (this.#bound.has(controller.name)) {
      throw userError(
        'DuplicateController',
        `two controllers are named ${controller.name}; give one another name`,
      );
    }
    const bound = controller.bind(this.#environment);
    this.#bound.set(controller.name, bound);
    return bound.runnables;
  }
}
