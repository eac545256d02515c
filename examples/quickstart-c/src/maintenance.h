/* Housekeeping in the background. Its rounds differ wildly in length, but share no lock with the
 * orders. */
#ifndef MAINTENANCE_H
#define MAINTENANCE_H

/* The main function of the maintenance thread (`stop` is an atomic_bool); returns soon after `stop`
 * is set. */
void* maintenance_loop(void* stop);

#endif
