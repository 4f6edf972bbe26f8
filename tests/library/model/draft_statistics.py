"""Models the statistics of schedulers."""

from draft_signals import PRIORITIES

COUNTED = ['run', 'continued', 'aborted']


class Statistics:
    """Keeps a Model's statistics of schedulers, which include their groups."""

    def collect(self, scheduler, collects):
        # The library may have ended the run of a task before, whose function has returned, or release its data now.
        for entry in [entry for entry in self.running if entry.returned and entry.is_counted]:
            if self.choose():
                self.end_run(entry)
            if self.choose():
                self.listen()
        if scheduler.collects == collects:
            return
        scheduler.collects = collects
        if collects:
            scheduler.since = scheduler.place.n_runs
            scheduler.counts.clear()

    @staticmethod
    def counting(entry):
        """Returns the scheduler that counts entry: a group belongs to one."""
        return entry.state.scheduler.outer or entry.state.scheduler

    def count_abort(self, entry):
        """Counts the abort of entry from another context, under its priority when its own context notices."""
        entry.counts_as = self.own_priority(entry.state)
        self.count(entry, 'aborted', entry.counts_as)
        if entry.is_counted and entry.place is not self.here:
            self.counted_elsewhere.append(entry)

    def recount(self):
        """Counts aborted entries anew after a change of priority: their own context may not have noticed the abort yet."""
        for entry in self.counted_elsewhere:
            counts, before, now = self.counting(entry).counts, entry.counts_as, self.own_priority(entry.state)
            if now != before and entry.place is not self.here and counts['aborted', before] and self.choose():
                counts['aborted', before] -= 1
                counts['aborted', now] += 1
                entry.counts_as = now

    def count(self, entry, what, priority):
        """Counts an event, but not the end of a run that had started before the statistics."""
        scheduler = self.counting(entry)
        if entry.is_counted and scheduler.collects and entry.number > scheduler.since:
            scheduler.counts[what, priority] += 1

    def begin_run(self, entry):
        entry.place.n_runs += 1
        entry.number, entry.counts_as = entry.place.n_runs, self.own_priority(entry.state)

    def end_run(self, entry):
        self.count(entry, 'run', entry.counts_as)
        if entry.continuation:
            self.count(entry, 'continued', entry.counts_as)
        entry.is_counted = False

    def say_counts(self):
        """Logs, at the end, the nonzero counts of the first context."""
        for number, scheduler in enumerate(self.places[0].schedulers):
            counts = [[scheduler.counts[what, priority] for what in COUNTED] for priority in range(len(PRIORITIES))]
            if any(map(any, counts)):
                self.say(f'counts {number}: {", ".join(" ".join(map(str, of)) for of in counts)}')
