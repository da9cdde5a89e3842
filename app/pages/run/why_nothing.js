// What a part of a run's page says where it has nothing to show. Why a record cannot be read stands at the head, once.

export const whyNothing = (now) =>
  now.unreadable && document.body.dataset.record === "unreadable"
    ? "Nothing to show: the record cannot be read."
    : now.sentence;
