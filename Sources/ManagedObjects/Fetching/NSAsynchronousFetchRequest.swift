import Foundation

/// What is called with the result of an asynchronous fetch, on the context's queue.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
    (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch that runs while the caller goes on, and then hands its result to a block.
///
/// When the caller has a current `Progress`, the fetch reports to it and can be cancelled through it.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, AsynchronousFetching {
    private let request: NSFetchRequest<ResultType>
    private let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    /// A fetch with the block to call when it is done.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.request = request
        completion = blk
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// What is fetched.
    open var fetchRequest: NSFetchRequest<ResultType> { request }

    /// The block that is called, on the context's queue, when the fetch is done, has failed or was cancelled.
    ///
    /// It takes this request's own result type, as result types do not cast into each other here.
    open var completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? { completion }

    /// How many results the caller expects: the total of the progress until the number is known.
    open var estimatedResultCount = 0

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSAsynchronousFetchRequest(
            fetchRequest: NSFetchRequest<ResultType>(request), completionBlock: completion)
        copy.assign(from: self)
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }

    // MARK: - For the context

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

/// The answer to an asynchronous fetch: empty at first, complete when the request's block is called.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, AsynchronousFetchCompleting {
    private let request: NSAsynchronousFetchRequest<ResultType>
    private final var results: [ResultType]?

    init(request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext, progress: Progress?) {
        self.request = request
        super.init(context: context, progress: progress)
    }

    /// The request that this answers.
    open var fetchRequest: NSAsynchronousFetchRequest<ResultType> { request }

    /// What was found; nil as long as the fetch runs, and when it has failed or was cancelled.
    open var finalResult: [ResultType]? { results }

    // MARK: - For the context

    final func complete() {
        defer { request.completionBlock?(self) }
        do {
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            let found = try managedObjectContext.fetch(request.fetchRequest)
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            results = found
            // Never zero: off Apple's platforms Foundation stops the program when a total becomes that.
            progress?.totalUnitCount = Int64(max(found.count, 1))
            progress?.completedUnitCount = Int64(max(found.count, 1))
        } catch {
            fail(with: error)
        }
    }
}

/// Any asynchronous fetch request, whatever the type of its results.
protocol AsynchronousFetching: NSPersistentStoreRequest {
    var specification: FetchSpecification { get }
    /// Makes the result that the caller gets at once. Called where the caller's current progress can be seen.
    func begin(in context: NSManagedObjectContext) -> any AsynchronousFetchCompleting
}

/// The result of any asynchronous fetch, still to be completed.
protocol AsynchronousFetchCompleting: NSPersistentStoreAsynchronousResult {
    /// Fetches, keeps what was found or the error, and calls the request's block. On the context's queue.
    func complete()
}
