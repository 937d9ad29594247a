import CoreData
import Dispatch
import Foundation
import OpenCombine
import OpenCombineDispatch
import OpenCombineFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// OpenCombine's extensions of other modules' types are under `#if !canImport(Combine)`. If it is compiled again, after a change of
// options, it finds the module Combine of the build before, and leaves them out. These stand in for them. Where OpenCombine has its own,
// the compiler prefers those.

/// A queue or a run loop on which publishers deliver their values: `DispatchQueue`, `OperationQueue` and `RunLoop`.
public protocol DeliveryQueue {
    associatedtype Schedule: Scheduler
    /// The queue as a scheduler.
    var ocombine: Schedule { get }
}

extension DispatchQueue: DeliveryQueue {}
extension OperationQueue: DeliveryQueue {}
extension RunLoop: DeliveryQueue {}

extension Publisher {
    /// A publisher that delivers its values on a queue.
    @_disfavoredOverload
    public func receive<Queue: DeliveryQueue>(
        on queue: Queue, options: Queue.Schedule.SchedulerOptions? = nil
    ) -> Publishers.ReceiveOn<Self, Queue.Schedule> {
        receive(on: queue.ocombine, options: options)
    }

    /// A publisher that is subscribed to, and cancelled, on a queue.
    @_disfavoredOverload
    public func subscribe<Queue: DeliveryQueue>(
        on queue: Queue, options: Queue.Schedule.SchedulerOptions? = nil
    ) -> Publishers.SubscribeOn<Self, Queue.Schedule> {
        subscribe(on: queue.ocombine, options: options)
    }

    /// A publisher that delivers a value when none has followed it for a time.
    @_disfavoredOverload
    public func debounce<Queue: DeliveryQueue>(
        for time: Queue.Schedule.SchedulerTimeType.Stride, scheduler: Queue,
        options: Queue.Schedule.SchedulerOptions? = nil
    ) -> Publishers.Debounce<Self, Queue.Schedule> {
        debounce(for: time, scheduler: scheduler.ocombine, options: options)
    }

    /// A publisher that delivers its values after a time.
    @_disfavoredOverload
    public func delay<Queue: DeliveryQueue>(
        for interval: Queue.Schedule.SchedulerTimeType.Stride,
        tolerance: Queue.Schedule.SchedulerTimeType.Stride? = nil, scheduler: Queue,
        options: Queue.Schedule.SchedulerOptions? = nil
    ) -> Publishers.Delay<Self, Queue.Schedule> {
        delay(for: interval, tolerance: tolerance, scheduler: scheduler.ocombine, options: options)
    }

    /// A publisher that delivers at most one value in each interval: the latest, or the first.
    @_disfavoredOverload
    public func throttle<Queue: DeliveryQueue>(
        for interval: Queue.Schedule.SchedulerTimeType.Stride, scheduler: Queue, latest: Bool
    ) -> Publishers.Throttle<Self, Queue.Schedule> {
        throttle(for: interval, scheduler: scheduler.ocombine, latest: latest)
    }

    /// A publisher that ends if no value comes in a time, with an error if one is given.
    @_disfavoredOverload
    public func timeout<Queue: DeliveryQueue>(
        _ interval: Queue.Schedule.SchedulerTimeType.Stride, scheduler: Queue,
        options: Queue.Schedule.SchedulerOptions? = nil, customError: (() -> Failure)? = nil
    ) -> Publishers.Timeout<Self, Queue.Schedule> {
        timeout(interval, scheduler: scheduler.ocombine, options: options, customError: customError)
    }
}

extension NotificationCenter {
    public typealias Publisher = OCombine.Publisher

    /// A publisher of the notifications with a name, of one object or of all.
    @_disfavoredOverload
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> OCombine.Publisher {
        ocombine.publisher(for: name, object: object)
    }
}

extension Timer {
    public typealias TimerPublisher = OCombine.TimerPublisher
}

extension URLSession {
    public typealias DataTaskPublisher = OCombine.DataTaskPublisher

    /// A publisher of the data at a URL.
    @_disfavoredOverload
    public func dataTaskPublisher(for url: URL) -> OCombine.DataTaskPublisher { ocombine.dataTaskPublisher(for: url) }

    /// A publisher of the response to a request.
    @_disfavoredOverload
    public func dataTaskPublisher(for request: URLRequest) -> OCombine.DataTaskPublisher {
        ocombine.dataTaskPublisher(for: request)
    }
}

extension Optional {
    public typealias Publisher = OCombine.Publisher

    /// A publisher of the value, if there is one.
    @_disfavoredOverload
    public var publisher: OCombine.Publisher { ocombine.publisher }
}

extension Result {
    public typealias Publisher = OCombine.Publisher

    /// A publisher of the value, or of the error.
    @_disfavoredOverload
    public var publisher: OCombine.Publisher { ocombine.publisher }
}
