// SPDX-License-Identifier: LGPL-2.1-or-later
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::Scheduler;

/// Yields between two items when the time slice is over.
struct Slice {
    scheduler: Scheduler,
    has_yielded: bool,
}

impl Slice {
    fn new(scheduler: &Scheduler) -> Self {
        Self { scheduler: scheduler.clone(), has_yielded: false }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.has_yielded && self.scheduler.should_yield() {
            self.has_yielded = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.has_yielded = false;
        Poll::Ready(())
    }
}

/// The result of [`Scheduler::slices`]: a stream, whose items [`Slices::next`] returns, too.
#[must_use = "a stream does nothing unless it is awaited"]
pub struct Slices<I> {
    slice: Slice,
    items: I,
}

impl<I: Iterator> Slices<I> {
    pub(crate) fn new(scheduler: &Scheduler, items: I) -> Self {
        Self { slice: Slice::new(scheduler), items }
    }

    /// Returns the next item, at once or in the next time slice; `None` after the last.
    pub async fn next(&mut self) -> Option<I::Item> {
        std::future::poll_fn(|context| self.slice.poll(context)).await;
        self.items.next()
    }
}

impl<I: Iterator + Unpin> Stream for Slices<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<I::Item>> {
        self.slice.poll(context).map(|()| self.items.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<I> fmt::Debug for Slices<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Slices")
    }
}

/// The result of [`Scheduler::in_slices`].
#[must_use = "a stream does nothing unless it is awaited"]
pub struct InSlices<S> {
    slice: Slice,
    stream: Pin<Box<S>>,
}

impl<S: Stream> InSlices<S> {
    pub(crate) fn new(scheduler: &Scheduler, stream: S) -> Self {
        Self { slice: Slice::new(scheduler), stream: Box::pin(stream) }
    }

    /// Returns the next item as soon as the stream has one, or in the next time slice; `None` after the last.
    pub async fn next(&mut self) -> Option<S::Item> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<S: Stream> Stream for InSlices<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        match self.slice.poll(context) {
            Poll::Ready(()) => self.stream.as_mut().poll_next(context),
            Poll::Pending => Poll::Pending,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl<S> fmt::Debug for InSlices<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("InSlices")
    }
}
