import Dispatch

// On Apple's platforms queues, groups and semaphores are objects of Foundation, which are equal if they are identical: data layers
// compare the queue of an observer with their own, and keep observers by queue.
extension DispatchObject: @retroactive Equatable {
    public static func == (first: DispatchObject, second: DispatchObject) -> Bool { first === second }
}

extension DispatchObject: @retroactive Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
