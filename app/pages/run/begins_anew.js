// What links say that lead to a new run from weights of this one.

export const BEGINS_ANEW =
  "New run with this run’s settings and these weights alone: optimizer and schedule start over, " +
  "and KL is measured from here";
