import Synchronization

/// The user info of an entity or a property. Unlike the rest of a model, it can be changed while a coordinator uses the model.
final class DescriptionUserInfo: Sendable {
    private struct Pairs: @unchecked Sendable {  // because the dictionary is replaced, never changed in place
        let dictionary: [AnyHashable: Any]?
    }

    private let pairs = Mutex(Pairs(dictionary: [:]))

    var dictionary: [AnyHashable: Any]? {
        get { pairs.withLock { $0 }.dictionary }
        set {
            let replacement = Pairs(dictionary: newValue)
            pairs.withLock { $0 = replacement }
        }
    }
}
