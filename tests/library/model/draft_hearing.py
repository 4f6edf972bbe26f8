"""Makes the model follow the library's log where the draft leaves the order open."""


class Differs(Exception):
    """Raised when the log contradicts the draft."""


class Hearing:
    """Follows the log of the library in a Model.  The draft does not say when a destroy notify is called, when a
    dependent of a signal that g_cancellable_cancel () cancelled emits `cancelled`, and when aborts from another context
    or a destroy notify are reported: in a traced program, the model does so when the library did, if that is allowed.
    If the log does not show the order of two events, the model tries each choice in turn."""

    def prepare_hearing(self, heard, choices):
        self.heard, self.choices, self.n_chosen = heard, choices, 0

    def say(self, what):
        self.listen()
        if self.heard is not None and self.heard[len(self.log):len(self.log) + 1] != [what]:
            raise Differs(f'log[{len(self.log)}]: expected {what}, got {self.heard[len(self.log):][:3]}')
        self.log.append(what)

    def say_when(self, what):
        self.say(f'{what} late' if self.late else what)

    def listen(self, iterates=False, in_call=False):
        """Performs the next event of the log, if it may come at any time, or in an iteration of the context."""
        while self.heard is not None and len(self.log) < len(self.heard):
            what, _, name = self.heard[len(self.log)].partition(' ')
            if what == 'gone' and name in self.released and self.is_inside(self.released[name][0]):
                self.log.append(f'gone {name}')
                self.forget_queued(name)
                if not in_call:
                    self.complete_first()
                self.n_loose += 1
                self.perform_all(self.released.pop(name)[1], None)
                self.n_loose -= 1
            elif in_call:  # no microtask runs there
                return
            elif what == 'settled' and name in self.untold and self.untold[name][0] is self.here:
                self.release_plain()
                self.join_first(name)
                self.finish_first(name.split()[0] in self.reactions)
                self.say_untold(name)
            elif what == 'waited' and name in self.unwaited and self.unwaited[name][0].group.place is self.here:
                self.release_plain()
                self.finish_first(True)
                wait, result = self.unwaited.pop(name)
                wait.deliver(result)
            elif iterates and what == 'cancelled' and name in self.unsaid and self.signals[name].place is self.here:
                self.n_loose += 1
                self.say_cancelled(name, None)
                self.n_loose -= 1
            else:
                return

    def release_plain(self):
        """Runs a microtask after the function has returned: the data of a task without a result may be freed before it."""
        for entry in [entry for entry in self.running if entry.returned and not entry.has_result and entry.release]:
            entry.release()

    def join_first(self, told):
        """Reports to the waits that had started when the task ended, which may have been later."""
        _, member, waits = self.untold[told]
        for wait in list(member.group.joining) if member else []:
            if wait in waits or self.choose():
                self.join_waits(wait)

    def finish_first(self, goes_on):
        """Ends the turn of the running task before it is reported, if that is possible.  Its own result comes at once if it continues now."""
        entry = self.running[-1] if self.running else None
        if goes_on and entry and entry.returned and entry.label and not self.here.microtasks and self.choose():
            self.finish(entry)

    def complete_first(self):
        """Calls a destroy notify after the waits for a group have been notified of a task, and before its callbacks, if that is possible."""
        told = next((what for what in self.heard[len(self.log):] if what.startswith('settled ')), None)
        label, outcome = told.split()[1:] if told else (None, None)
        member = self.members.get(label)
        if member and not member.completed and self.outcomes.get(label) == outcome and self.choose():
            self.complete(member, outcome)

    def hasten(self, entry):
        """Cancels entry, whose signal has been aborted: the library may have done so before, or do so now."""
        queue = entry.place.microtasks
        waiting = [call for call in queue if getattr(call, 'label', None) in self.released]
        mine = [call for call in waiting if call.label == entry.label]
        if mine and waiting[0] is not mine[0] and self.choose():
            queue.remove(mine[0])
            queue.insert(queue.index(waiting[0]), mine[0])

    def choose(self):
        self.n_chosen += 1
        return self.n_chosen <= len(self.choices) and self.choices[self.n_chosen - 1]

    def say_untold(self, told):
        label, outcome = told.split()
        # It may be reported after its function has returned and its checkpoint is over: the loop may have looked at the time
        # by then.
        for entry in [entry for entry in self.running if entry.label == label and entry.returned]:
            if self.is_due(self.here) and self.choose():
                self.enqueue_due(self.here)
            entry.release()
        self.log.append(f'settled {told}')
        self.complete(self.untold.pop(told)[1], outcome)
        self.react(label)

    def hear(self, what):
        if self.heard is not None and self.heard[len(self.log):len(self.log) + 1] == [what]:
            self.log.append(what)
