import CoreDataErrors
import Foundation

/// The type of the block that receives the result of an asynchronous fetch, on the context's queue.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
    (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch that is executed while the caller continues, and then calls a block with its result.
///
/// When the caller has a current `Progress`, the fetch reports to it and can be cancelled through it.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, AsynchronousFetching {
    private let request: NSFetchRequest<ResultType>
    private let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    /// Creates a fetch with the block to call when it is finished.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.request = request
        completion = blk
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The request to execute.
    open var fetchRequest: NSFetchRequest<ResultType> { request }

    /// The block that is called on the context's queue when the fetch has finished, failed or been cancelled.
    ///
    /// Its parameter has this request's own result type, because result types cannot be cast to each other here.
    open var completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? { completion }

    /// The estimated number of results: the total of the progress until the number is known.
    open var estimatedResultCount = 0

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(
            fetchRequest: NSFetchRequest<ResultType>(request), completionBlock: completion)
        copy.assign(from: self)
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }

    // MARK: - For the context

    final override var asynchronousFetch: (any AsynchronousFetching)? { self }

    final var specification: FetchSpecification {
        var specification = request.specification
        if let affectedStores { specification.affectedStores = affectedStores }
        return specification
    }

    final func begin(in context: NSManagedObjectContext) -> any AsynchronousFetchCompleting {
        var progress: Progress?
        if Progress.current() != nil {
            let total = estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1
            progress = Progress(totalUnitCount: total)
            progress?.isCancellable = true
        }
        return NSAsynchronousFetchResult(request: self, context: context, progress: progress)
    }
}

/// The result of an asynchronous fetch: empty at first, complete when the request's block is called.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, AsynchronousFetchCompleting {
    private let request: NSAsynchronousFetchRequest<ResultType>
    private final var results: [ResultType]?

    init(request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext, progress: Progress?) {
        self.request = request
        super.init(context: context, progress: progress)
    }

    /// The request of this result.
    open var fetchRequest: NSAsynchronousFetchRequest<ResultType> { request }

    /// The fetched results; nil while the fetch runs, and after a failure or a cancellation.
    open var finalResult: [ResultType]? { results }

    // MARK: - For the context

    final func complete() {
        defer { request.completionBlock?(self) }
        do {
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            let progress = progress
            let found = try FetchInterruption.interrupting(when: { progress?.isCancelled == true }) {
                try managedObjectContext.fetch(request.fetchRequest)
            }
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            results = found
            // Never zero: outside Apple's platforms Foundation stops the program when a total becomes zero.
            progress?.totalUnitCount = Int64(max(found.count, 1))
            progress?.completedUnitCount = Int64(max(found.count, 1))
        } catch {
            fail(with: error)
        }
    }
}

/// An asynchronous fetch request of any result type.
protocol AsynchronousFetching: NSPersistentStoreRequest {
    var specification: FetchSpecification { get }
    /// Creates the result that the caller gets immediately. Called while the caller's current progress is accessible.
    func begin(in context: NSManagedObjectContext) -> any AsynchronousFetchCompleting
}

/// The result of an asynchronous fetch of any type, to be completed.
protocol AsynchronousFetchCompleting: NSPersistentStoreAsynchronousResult {
    /// Fetches, sets the result or the error, and calls the request's block. Called on the context's queue.
    func complete()
}

/// Cancels fetches while their statements are executed.
package enum FetchInterruption {
    /// A type with a name, because `Scripts/build-command` has the compiler refer to types directly, and it crashes at a task-local
    /// function.
    private struct Request: Sendable {
        let isRequested: @Sendable () -> Bool
    }

    @TaskLocal private static var request: Request?

    /// Whether fetches that begin while this is set are to end, with `CocoaError.userCancelled`. Called about every
    /// millisecond, on the thread of the fetch.
    package static var isRequested: (@Sendable () -> Bool)? { request?.isRequested }

    /// Runs work whose fetches end when a closure, which is called about every millisecond, returns true.
    package static func interrupting<Result>(
        when isRequested: @escaping @Sendable () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        try $request.withValue(Request(isRequested: isRequested), operation: body)
    }

    /// Runs work whose statements must not end halfway: a save that has been committed must not fail because of a later read.
    ///
    /// - Throws: `CocoaError.userCancelled` if the end of the work around it is already requested.
    package static func completing<Result>(_ body: () throws -> Result) throws -> Result {
        guard let isRequested else { return try body() }
        if isRequested() { throw CocoaError(.userCancelled) }
        return try $request.withValue(nil, operation: body)
    }
}
