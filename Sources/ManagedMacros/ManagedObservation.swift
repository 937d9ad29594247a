// Swift's Observation for the classes of `@Managed` on Apple's platforms. Elsewhere the engine does the same for all managed
// objects, and this file is empty.

#if Macros && canImport(Darwin)
    import Combine
    import CoreData
    import Observation
    import ObjectiveC

    /// Notifies Swift's Observation of the changes of one object: of every change that Core Data announces by
    /// `objectWillChange`, whether the object was set, merged or refreshed, or a change was undone. An observer of one property
    /// is notified of changes of the others too.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private final class ObjectObservation: Observable {
        private let registrar = ObservationRegistrar()
        private var subscription: AnyCancellable?
        /// Represents all properties of the object in the registrar.
        private var properties: Int { 0 }

        init(_ object: NSManagedObject) {
            subscription = object.objectWillChange.sink { [weak self] _ in
                guard let self else { return }
                registrar.withMutation(of: self, keyPath: \.properties) {}
            }
        }

        func noteReading() { registrar.access(self, keyPath: \.properties) }
    }

    // Only the addresses of these variables are used, as keys of associated objects.
    private nonisolated(unsafe) var observationKey: UInt8 = 0
    private nonisolated(unsafe) var isObservableKey: UInt8 = 0

    extension NSManagedObject {
        /// Notifies Swift's Observation that a property is read. Getters of `@Managed` call it.
        public final func _noteManagedReading() {
            guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *), managedObjectContext?.isObservable == true
            else { return }
            if let known = objc_getAssociatedObject(self, &observationKey) as? ObjectObservation {
                return known.noteReading()
            }
            let observation = ObjectObservation(self)
            objc_setAssociatedObject(self, &observationKey, observation, .OBJC_ASSOCIATION_RETAIN)
            observation.noteReading()
        }
    }

    extension NSManagedObjectContext {
        /// Whether Swift's Observation is notified of readings and changes of the context's objects, where these belong to classes
        /// with `@Managed`. False by default, because each reading of a property takes longer then.
        public var isObservable: Bool {
            get { objc_getAssociatedObject(self, &isObservableKey) != nil }
            set { objc_setAssociatedObject(self, &isObservableKey, newValue ? true : nil, .OBJC_ASSOCIATION_RETAIN) }
        }
    }
#endif
