import { compareStories } from '../support/lab-workload-comparison.ts';
import { DAEMON_STORIES } from '../support/lab-workload-stories.ts';

compareStories('daemon sets', 'lab/W19 to W25', DAEMON_STORIES);
